/** What metrics call the kinds of containers. */
export const CONTAINER_TYPES = {
  init: 'init_container',
  regular: 'container',
  ephemeral: 'ephemeral_container',
} as const
