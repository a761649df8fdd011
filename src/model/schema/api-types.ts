import { apiSchema } from './generated/api-schema.ts'
import { ObjectTypes } from './object-type.ts'

/** The types of every API object; a file of its own since the kubelet needs only those of a pod, and starts faster without. */
export const apiTypes = new ObjectTypes(apiSchema)
