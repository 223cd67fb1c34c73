"""The specification as a site: static pages, with what proves and what fails each requirement beside it."""
