/** What is said when an answer is given up before it is there. */
export { callerLeft as hungUp, timedOut } from '../base/work/work.ts'
