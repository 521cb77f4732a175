"""Many runs of policies in an environment."""
