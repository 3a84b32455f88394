"""The HTTP client: requests, addresses, decoding, limits; fetches responses, does not parse pages."""
