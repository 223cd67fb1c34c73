raise SystemExit(0)  # a shadow of the real one
