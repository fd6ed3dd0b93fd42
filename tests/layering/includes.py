#!/usr/bin/env python3
"""Every file includes what it uses of the standard library, itself or by headers of ours.

The compiler does not say so: it reads the precompiled headers of tools/bazel/muster.bzl first, whatever a
file includes. Proves first, on small made-up trees, that what is missing is found; then reads the checkout.
"""

import pathlib
import re
import sys
import tempfile

# What each header declares in std:: of what we use. A name that several declare is found in any of them.
DECLARES = {
    "algorithm": """adjacent_find all_of any_of binary_search clamp copy copy_backward copy_if copy_n count
        count_if equal fill fill_n find find_if find_if_not for_each generate_n includes is_sorted lower_bound
        max max_element min min_element minmax mismatch move nth_element none_of remove remove_if replace reverse
        rotate search set_difference shuffle sort stable_sort swap_ranges transform unique upper_bound""",
    "array": "array get size to_array",
    "atomic": """atomic atomic_flag atomic_ref atomic_signal_fence atomic_thread_fence memory_order
        memory_order_acq_rel memory_order_acquire memory_order_relaxed memory_order_release memory_order_seq_cst""",
    "barrier": "barrier",
    "bit": "bit_cast bit_ceil bit_floor bit_width countl_zero countr_zero endian has_single_bit popcount rotl rotr",
    "cctype": "isalnum isalpha isdigit isspace tolower toupper",
    "cerrno": "",
    "charconv": "chars_format errc from_chars from_chars_result to_chars",
    "chrono": "chrono chrono_literals micro milli nano ratio",
    "cmath": """abs ceil cos exp fabs floor hypot ilogb isfinite isinf isnan ldexp lerp llround log log2 lround
        nan nearbyint nextafter pow round signbit sin sqrt trunc""",
    "complex": "abs complex",
    "concepts": """constructible_from convertible_to derived_from floating_point integral invocable move_constructible regular
        same_as signed_integral unsigned_integral""",
    "condition_variable": "condition_variable",
    "coroutine": "coroutine_handle coroutine_traits noop_coroutine suspend_always suspend_never",
    "csetjmp": "jmp_buf longjmp",
    "csignal": "raise sig_atomic_t signal",
    "cstddef": "byte max_align_t nullptr_t ptrdiff_t size_t to_integer",
    "cstdint": """int8_t int16_t int32_t int64_t intmax_t intptr_t uint8_t uint16_t uint32_t uint64_t uintmax_t
        uintptr_t""",
    "cstdio": """FILE fclose fflush fgets fopen fprintf fputs fread fscanf fwrite perror printf puts remove rename
        rewind size_t snprintf sscanf tmpfile""",
    "cstdlib": """_Exit abort abs aligned_alloc atexit atoi calloc exit free getenv malloc mkstemp quick_exit realloc
        size_t strtod strtol strtoll strtoul strtoull system""",
    "cstring": """memchr memcmp memcpy memmove memset size_t strchr strcmp strcpy strcspn strerror strlen strncmp
        strspn strstr""",
    "ctime": "size_t strftime time time_t tm",
    "deque": "deque erase_if",
    "exception": """current_exception exception exception_ptr make_exception_ptr rethrow_exception
        set_terminate terminate uncaught_exceptions""",
    "filesystem": "error_code filesystem",
    "fstream": "fstream flush ifstream ios ofstream streamsize",
    "functional": """bind_front bit_and bit_or bit_xor cref divides equal_to function greater hash identity invoke less
        less_equal logical_and logical_or minus modulus multiplies negate plus ref reference_wrapper""",
    "future": "async future future_status promise",
    "initializer_list": "initializer_list",
    "iomanip": "setfill setprecision setw",
    "ios": "dec hex ios ios_base streamsize",
    "iostream": "cerr cin cout dec flush hex ios streamsize",
    "istream": "istream ws",
    "iterator": """advance back_inserter begin contiguous_iterator data distance end forward_iterator
        forward_iterator_tag input_iterator_tag istream_iterator istreambuf_iterator make_move_iterator next prev
        random_access_iterator_tag size ssize""",
    "latch": "latch",
    "limits": "numeric_limits",
    "list": "erase_if list",
    "map": "erase_if map multimap",
    "memory": """addressof align allocate_shared allocator assume_aligned construct_at destroy_at
        enable_shared_from_this static_pointer_cast make_shared make_unique make_unique_for_overwrite shared_ptr to_address
        uninitialized_value_construct_n unique_ptr weak_ptr""",
    "memory_resource": "pmr",
    "mutex": "call_once lock_guard mutex once_flag recursive_mutex scoped_lock try_to_lock unique_lock",
    "new": "align_val_t bad_alloc launder nothrow",
    "numbers": "numbers",
    "numeric": """accumulate exclusive_scan gcd inclusive_scan inner_product iota lcm midpoint partial_sum reduce
        transform_reduce""",
    "optional": "make_optional nullopt optional",
    "ostream": "flush ostream",
    "random": "mt19937 mt19937_64 random_device uniform_int_distribution",
    "ranges": "views",
    "ratio": "micro milli nano ratio",
    "semaphore": "binary_semaphore counting_semaphore",
    "set": "erase_if multiset set",
    "source_location": "source_location",
    "span": "as_bytes as_writable_bytes data dynamic_extent size span",
    "sstream": "dec hex ios istringstream ostringstream stringstream ws",
    "stdexcept": """domain_error invalid_argument length_error logic_error out_of_range overflow_error range_error
        runtime_error""",
    "stop_token": "nostopstate stop_callback stop_source stop_token",
    "streambuf": "streambuf",
    "string": "data erase_if getline size stod stoi stol stoll stoul stoull string to_string",
    "string_view": "data size string_view",
    "system_error": """errc error_category error_code error_condition generic_category is_error_code_enum
        system_category system_error""",
    "thread": "jthread this_thread thread",
    "tuple": "apply forward_as_tuple get make_from_tuple make_tuple tie tuple tuple_element_t tuple_size_v",
    "type_traits": """common_type_t conditional_t decay_t enable_if_t false_type integral_constant
        invoke_result invoke_result_t is_array_v is_base_of_v is_class_v is_const_v is_constant_evaluated
        is_constructible_v is_convertible_v is_empty_v is_enum_v is_floating_point_v is_integral_v
        is_invocable_r_v is_invocable_v is_lvalue_reference_v is_nothrow_constructible_v
        is_nothrow_move_constructible_v is_pointer_v is_same is_same_v is_signed_v is_standard_layout_v
        is_trivially_copyable_v is_trivially_destructible_v is_unsigned_v is_void_v make_signed_t
        make_unsigned_t remove_const_t remove_cv_t remove_cvref_t remove_pointer_t remove_reference_t true_type
        type_identity_t underlying_type_t void_t""",
    "unordered_map": "erase_if unordered_map",
    "unordered_set": "erase_if unordered_set",
    "utility": """as_const declval exchange forward get in_place in_range index_sequence index_sequence_for
        make_index_sequence make_pair move pair swap tuple_element_t tuple_size_v""",
    "variant": "get get_if holds_alternative monostate variant visit",
    "vector": "data erase erase_if size vector",
}
# Of no namespace.
MACROS = {
    "errno": "cerrno",
    "stderr": "cstdio",
    "stdout": "cstdio",
    "EXIT_FAILURE": "cstdlib",
    "EXIT_SUCCESS": "cstdlib",
}
# A header of C that gives the same.
ALSO = {"cerrno": {"errno.h"}, "cstdio": {"stdio.h"}, "cstdlib": {"stdlib.h"}, "csignal": {"signal.h"}}

HOMES = {}
for header, names in DECLARES.items():
    for each in names.split():
        HOMES.setdefault(each, set()).add(header)

FOLDERS = ("engine", "algos", "transports", "tools", "tests")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.M)
COMMENT = re.compile(r"//.*")
NAME = re.compile(r"\bstd::(?:(ranges)::)?(\w+)")
MACRO = re.compile(r"\b(" + "|".join(MACROS) + r")\b")
PRECOMPILED = re.compile(r"^_STANDARD = \[(.*?)\]", re.M | re.S)
SOURCES = {".cpp", ".hpp", ".inc"}


class Tree:
    def __init__(self, root):
        self.root = root
        self.texts = {}

    def text(self, path):
        if path not in self.texts:
            self.texts[path] = COMMENT.sub("", path.read_text(errors="replace"))
        return self.texts[path]

    def ours(self, included):
        """The file of ours that an include names, or None."""
        if not included.startswith("muster/"):
            places = [included]
        else:
            places = [folder + included.removeprefix("muster") for folder in ("engine", "tools/library", "tools/c")]
        return next((self.root / each for each in places if (self.root / each).is_file()), None)

    def others(self, path):
        """The headers of others that a file includes, itself or by ours."""
        found, seen, left = set(), set(), [path]
        while left:
            path = left.pop()
            if path in seen:
                continue
            seen.add(path)
            for included in INCLUDE.findall(self.text(path)):
                header = self.ours(included)
                left.append(header) if header else found.add(included)
        return found

    def complaints(self, path):
        """What a file uses and does not include, as a line of text each."""
        included = self.others(path)
        for name, homes in sorted(uses(self.text(path)).items()):
            if not homes:
                yield f"std::{name}: which header is it from? DECLARES in tests/layering/includes.py does not say"
            elif not included & homes.union(*(ALSO.get(home, set()) for home in homes)):
                yield f"{name} is used; expected #include " + " or ".join(f"<{home}>" for home in sorted(homes))

    def violations(self):
        return [
            f"{path.relative_to(self.root)}: {complaint}"
            for folder in FOLDERS
            for path in sorted((self.root / folder).rglob("*"))
            if path.suffix in SOURCES and path.is_file()
            for complaint in self.complaints(path)
        ]


def uses(text):
    """Names in a text, and where each may be from."""
    found = {}
    for ranges, name in NAME.findall(text):
        if not ranges:
            found[name] = HOMES.get(name, set())
        elif "algorithm" in HOMES.get(name, set()):
            found[f"ranges::{name}"] = {"algorithm"}
    for name in MACRO.findall(text):
        found[name] = {MACROS[name]}
    return found


def unknown(rules):
    """Precompiled headers of which it is not known what they declare."""
    return sorted(set(re.findall(r'"(\S+)"', PRECOMPILED.search(rules).group(1))) - set(DECLARES))


# A source, and what it is said to lack. `"a.hpp"` includes <vector> and <muster/coro/b.hpp>, which includes <map>.
CASES = [
    ("#include <vector>\nstd::vector<int> a;", ""),
    ("std::vector<int> a;", "<vector>"),
    ("#include <string>\nstd::vector<int> a;", "<vector>"),
    ('#include "algos/a.hpp"\nstd::vector<int> a;', ""),
    ('#include "algos/a.hpp"\nstd::map<int, int> a;', ""),
    ('#include "algos/a.hpp"\nstd::set<int> a;', "<set>"),
    ("// std::vector, or #include <set>\n", ""),
    ("// #include <vector>\nstd::vector<int> a;", "<vector>"),
    ("#include <cstring>\nstd::size_t a;", ""),
    ("int a = errno;", "<cerrno>"),
    ("#include <errno.h>\nint a = errno;", ""),
    ("auto a = std::ranges::find(b, c);", "<algorithm>"),
    ("#include <vector>\nauto a = std::ranges::size(b);", ""),
    ("std::never_heard_of a;", "std::never_heard_of"),
]


def case(text, lacks):
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for path, content in (
            ("algos/a.hpp", "#include <vector>\n#include <muster/coro/b.hpp>\n"),
            ("engine/coro/b.hpp", "#include <map>\n"),
            ("algos/c.cpp", text),
        ):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(content)
        found = Tree(root).violations()
        return lacks in found[0] if lacks and found else not lacks and not found


def main():
    # The link among the test's inputs leads to the checkout.
    root = pathlib.Path("WORKSPACE").resolve().parent
    if not any((root / "engine").rglob("*.hpp")):
        sys.exit(f"{root} has no engine/ to read")

    failed = 0
    for text, lacks in CASES:
        if not case(text, lacks):
            failed += 1
            print(f"{text!r} should be {f'refused for {lacks}' if lacks else 'allowed'}")
    for header in unknown((root / "tools/bazel/muster.bzl").read_text()):
        failed += 1
        print(f"tools/bazel/muster.bzl precompiles <{header}>, of which DECLARES says nothing")
    broken = Tree(root).violations()
    print("\n".join(broken), end="\n" if broken else "")
    failed += bool(broken)
    print(f"cases: {len(CASES) + 2 - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
