"""What is known of languages: tags, n-gram profiles, font encodings, and what a link gives away before a visit."""
