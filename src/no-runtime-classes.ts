import type { RuntimeClasses } from './pods/runtime-classes.ts'

/** Runtime classes are objects of the API: without an API server nobody knows what their names mean. */
export const noRuntimeClasses: RuntimeClasses = {
  find: () => ({ kind: 'unavailable', why: 'this node has no API server' }),
}
