"""Ways to waste memory and time: the reference with one function replaced. The numbers that come out are the same."""
