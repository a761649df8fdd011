import type { SigningRequests } from '../pki/run-certificate-signer.ts'
import { createObjectReader } from '../kinds/object-reader.ts'
import type { RequestUser } from '../kinds/resource.ts'
import type { Api } from '../rest/create-api.ts'
import type { ApiObject } from '../store/api-object.ts'
import type { ApiStore } from '../store/api-store.ts'
import { callApi, OwnCallError } from './call-api.ts'

const RESOURCE = 'certificatesigningrequests.certificates.k8s.io'
const PATH = '/apis/certificates.k8s.io/v1/certificatesigningrequests'

/** The certificate requests of a store, read directly and written through its API. */
export function createSigningRequests(store: ApiStore, api: Api, user: RequestUser): SigningRequests {
  const objects = createObjectReader(store)
  const put = async (request: ApiObject, subresource: string) => {
    const target = `${PATH}/${encodeURIComponent(request.metadata.name ?? '')}/${subresource}`
    await unlessChanged(callApi(api, user, { method: 'PUT', target, body: request }))
  }
  return {
    list: () => objects.list(RESOURCE),
    findNode: (name) => objects.get({ resource: 'nodes', namespace: '', name }),
    onChange(wake) {
      const stops = [store.onChange(RESOURCE, wake), store.onChange('nodes', wake)]
      return () => stops.forEach((stop) => stop())
    },
    writeApproval: (request) => put(request, 'approval'),
    writeStatus: (request) => put(request, 'status'),
    remove: (name) =>
      unlessChanged(callApi(api, user, { method: 'DELETE', target: `${PATH}/${encodeURIComponent(name)}` })),
  }
}

/** Another client was faster; its change wakes the signer again. */
async function unlessChanged(call: Promise<void>): Promise<void> {
  try {
    await call
  } catch (error) {
    if (!(error instanceof OwnCallError) || (error.code !== 404 && error.code !== 409)) throw error
  }
}
