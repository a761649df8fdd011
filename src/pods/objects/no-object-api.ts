import { ObjectError } from './object-api.ts'
import type { ObjectApi } from './object-api.ts'

/** A node without an API server: every question has the same answer. */
export const noObjectApi: ObjectApi = {
  get: () => Promise.reject(noServer()),
  watch: () => Promise.reject(noServer()),
  patchClaimStatus: () => Promise.reject(noServer()),
  createToken: () =>
    Promise.reject(new ObjectError('Unavailable', 'cannot use TokenManager when kubelet is in standalone mode')),
}

function noServer(): ObjectError {
  return new ObjectError('Unavailable', 'this node has no API server')
}
