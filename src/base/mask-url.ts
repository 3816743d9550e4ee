/**
 * The URL without the values of its query, where receivers of webhooks often take their key. The names stay, so
 * that one can tell which URL it is. User information is refused wherever URLs are configured.
 */
export function maskUrl(text: string): string {
  const start = text.search(/[?#]/)
  if (start === -1) return text
  return text.slice(0, start) + text.slice(start).replaceAll(PART, '$1$2***')
}

/** The mark before it, and its name; one without `=` has no name, because it may be the key itself. */
const PART = /([?&#])([^=&#]*=)?[^&#]+/g
