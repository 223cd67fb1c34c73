"""What the suite knows of each page of the specification, a folder a chapter; ``contents`` finds it by name."""
