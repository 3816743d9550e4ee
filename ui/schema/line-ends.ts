/** Text with line ends that controls of a browser do not know: to them, each one is a line feed. */

/** As a control shows it. */
export function withLineFeeds(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n')
}

/** What a control holds now, with the line ends of the text that it showed before. Typed lines end as the first line does. */
export function withLineEndsOf(before: string, typed: string): string {
  if (!before.includes('\r')) return typed
  const shown = withLineFeeds(before)
  // one for each character that is shown
  const written = before.match(/\r\n|[^]/g) ?? []
  const shorter = Math.min(shown.length, typed.length)
  let start = 0
  while (start < shorter && shown[start] === typed[start]) start++
  let end = 0
  while (end < shorter - start && shown.at(-1 - end) === typed.at(-1 - end)) end++
  const [lineEnd = '\n'] = /\r\n?|\n/.exec(before) ?? []
  return [
    ...written.slice(0, start),
    typed.slice(start, typed.length - end).replaceAll('\n', lineEnd),
    ...written.slice(written.length - end),
  ].join('')
}
