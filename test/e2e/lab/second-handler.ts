/** A runtime handler besides the usual one, which runs pods in the same way. */
export const SECOND_HANDLER = 'second'
