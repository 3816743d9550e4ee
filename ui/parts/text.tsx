/** Stored text as text: invisible and direction-changing characters are made visible, and long text is cut. */
import type { JSX } from 'preact'

const INVISIBLE =
  // eslint-disable-next-line no-control-regex -- these characters are what it looks for
  /([\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb])/u

interface PlainTextProps {
  readonly text: string
  readonly maxLength?: number
}

export function PlainText({ text, maxLength = 400 }: PlainTextProps): JSX.Element {
  const shown = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text
  return <bdi dir="auto">{INVISIBLE.test(shown) ? shown.split(INVISIBLE).map(mark) : shown}</bdi>
}

function mark(part: string): JSX.Element | string {
  if (!INVISIBLE.test(part)) return part
  const code = `U+${part.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
  return (
    <span class="invisible" title="a character without a shape of its own">
      {code}
    </span>
  )
}
