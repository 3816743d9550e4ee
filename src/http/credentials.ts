/** The former address of the open mode. */
export { openMode } from '../auth/open.ts'
