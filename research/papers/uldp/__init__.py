"""He et al., Addressing sensitivity distinction in local differential privacy: a general utility-optimized framework."""
