"""Describes facts to know before you trust an answer: failures, interim analyses, disturbances, where trials ran."""
