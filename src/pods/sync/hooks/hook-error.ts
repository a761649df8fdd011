/** A lifecycle hook that did not do its work. The message never holds what the hook printed or was answered: that may be secret. */
export class HookError extends Error {
  override readonly name = 'HookError'
}
