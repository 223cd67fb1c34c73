"""The comparison of implementations as one HTML file, made from results records alone."""
