"""Facts to know before you trust an answer: failures, looks, disturbances, where trials ran."""
