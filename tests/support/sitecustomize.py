"""Read by every Python process that a test starts (by PYTHONPATH): live calls are off there too."""

import netguard

netguard.install()
