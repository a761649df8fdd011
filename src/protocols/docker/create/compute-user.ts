import type { Int64Value } from '../../cri/generated/runtime-v1.ts'
import { UnsupportedError } from './unsupported-error.ts'

/** The user as Docker wants it: an id or a name, and the group behind a colon; empty for that of the image. */
export function computeUser(context: {
  readonly runAsUser: Int64Value | undefined
  readonly runAsUsername: string
  readonly runAsGroup: Int64Value | undefined
}): string {
  const user = context.runAsUser === undefined ? context.runAsUsername : String(context.runAsUser.value)
  if (context.runAsGroup === undefined) return user
  if (user === '') throw new UnsupportedError('runAsGroup is specified without a runAsUser')
  return `${user}:${context.runAsGroup.value}`
}
