/** A member of JSON from elsewhere that should be a text. */
import { type Json, member } from '../base/json/json.ts'

/** Empty if there is no such text. */
export function textMember(value: Json | undefined, name: string): string {
  const found = member(value, name)
  return typeof found === 'string' ? found : ''
}
