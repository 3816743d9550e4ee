/** Imported before anything else of a test file, it makes the tests of that file run on PostgreSQL. */
import { chooseStore } from './store-kind.ts'

chooseStore('postgres')
