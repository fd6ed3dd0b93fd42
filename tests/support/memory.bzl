"""Settings of malloc for tests."""

# Long buffers are made and freed for each call: memory that goes back to the system each time costs half of the time.
KEEP_MEMORY = {
    "GLIBC_TUNABLES": ":".join([
        "glibc.malloc.mmap_threshold=0x40000000",
        "glibc.malloc.trim_threshold=0x100000000",
        "glibc.malloc.top_pad=0x4000000",
    ]),
}
