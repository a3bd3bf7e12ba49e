"""`python -m h123`."""

from h123.streams import make_usable

if __name__ == "__main__":
    make_usable()  # before the imports below look at them
    from h123.cli import main

    main()
