"""Two reasons for which there is no module: the file cannot be read, or it cannot be run."""


class NotThere(Exception):
    """The file does not exist or cannot be read."""


class NotLoaded(Exception):
    """The file exists, but no module can be made of it; the message says why, in one line."""
