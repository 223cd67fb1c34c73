"""Users' files as text and as modules: run as far as definitions need, notebooks too, with the places of lines."""
