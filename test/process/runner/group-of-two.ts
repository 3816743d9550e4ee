/** Two files that share a process, as in `npm test`. */
import { join } from 'node:path'
import { registerFiles } from '../../support/group.ts'

registerFiles(['lost-rejection.ts', 'in-order.ts'].map((name) => join(import.meta.dirname, name)))
