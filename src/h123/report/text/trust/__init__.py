"""What to know before you believe an answer: failures, looks, disturbances, where trials ran."""
