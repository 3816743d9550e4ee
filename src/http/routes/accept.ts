/** Whether the header `Accept` of a request names a media type. */

/** Types are compared without regard to case. `*` stands for no type here, and quality 0 excludes the type. */
export function acceptsType(accept: string, type: string): boolean {
  const header = accept.toLowerCase()
  // Most requests name another type, or none.
  return header.includes(type) && header.split(',').some((range) => isOf(range, type))
}

function isOf(range: string, type: string): boolean {
  const [name, ...parameters] = range.split(';').map((part) => part.trim())
  return name === type && !parameters.some((each) => EXCLUDED.test(each))
}

const EXCLUDED = /^q\s*=\s*0(\.0*)?$/
