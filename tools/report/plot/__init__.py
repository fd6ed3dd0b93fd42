"""Pictures of what Muster's commands found, from the JSON that they write.

A module a command, for what it writes: `bench` with its `bench_*`, `sim`, `validate` (sim
--validate), `tune` and `arrivals`. A picture is a class whose draw() gives a Page, and EXPECTED,
which says what its JSON must have; `kinds` tells by which key that JSON is known. A new picture is
such a module and a line there.

What they share: `read` checks JSON, `words` writes figures out, `style` has colours and fonts,
`page` is what is drawn on, and `axes` scales time and size. `output` writes files.
"""

import logging
import sys

# Where it keeps its fonts is of no interest.
logging.getLogger("matplotlib").setLevel(logging.ERROR)

try:
    import matplotlib
except ImportError:
    sys.exit("muster: no picture without matplotlib; install python3-matplotlib")
