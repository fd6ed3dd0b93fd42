"""Programs that packaging calls."""

import subprocess


def run(*command, **how):
    """What a command prints; it has to end well."""
    return subprocess.run([str(word) for word in command], check=True, text=True, stdout=subprocess.PIPE, **how).stdout
