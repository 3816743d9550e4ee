/** What a request accepts, by its headers `Accept` and `Accept-Encoding`. */

/** Whether the header names the media type or coding. `*` stands for none here, and quality 0 excludes. */
export function accepts(header: string, name: string): boolean {
  const lowerCase = header.toLowerCase()
  // Most requests name something else, or nothing.
  return lowerCase.includes(name) && lowerCase.split(',').some((item) => isOf(item, name))
}

function isOf(item: string, name: string): boolean {
  const [named, ...parameters] = item.split(';').map((part) => part.trim())
  return named === name && !parameters.some((each) => EXCLUDED.test(each))
}

const EXCLUDED = /^q\s*=\s*0(\.0*)?$/
