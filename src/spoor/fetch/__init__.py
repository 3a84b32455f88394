"""All that speaks HTTP as a client: requests, addresses, decoding, limits; what came back, not what it means."""
