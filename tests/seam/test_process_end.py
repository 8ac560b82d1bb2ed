"""What stays of a session when its process ends."""

import subprocess
import sys

SCRIPT = """
import workbench
from workbench.seam import begins

class Late:
    def __del__(self, open=open):
        open("/dev/null").close()

workbench.record(lambda: None)
begins.late = Late()  # it goes with that module, after the module's own names
"""


def test_the_end_of_a_process_is_quiet() -> None:
    """A file that is opened while Python takes its modules down brings no words of ours."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
