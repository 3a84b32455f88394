"""What is waiting, what is in transit, and which hosts have a delay: the frontier and its two stores."""
