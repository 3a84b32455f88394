"""Link ordering: scorers, trails and admissions, the strategies built from them, and their training."""
