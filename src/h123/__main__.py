"""`python -m h123`."""

from h123.cli import main

if __name__ == "__main__":
    main()
