"""``python -m workbench``: the same as the command ``workbench``."""

from workbench.cli import main

if __name__ == "__main__":
    main()
