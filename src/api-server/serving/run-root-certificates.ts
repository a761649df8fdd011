import type { Clock } from '../../base/async/clock.ts'
import { Wakeup } from '../../base/async/wakeup.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { createObjectReader } from '../kinds/object-reader.ts'
import type { RequestUser } from '../kinds/resource.ts'
import type { Api } from '../rest/create-api.ts'
import type { ApiStore } from '../store/api-store.ts'
import { callApi } from './call-api.ts'

export interface RootCertificateDeps {
  readonly store: ApiStore
  readonly api: Api
  readonly user: RequestUser
  /** The certificate of the authority that signs for the API. */
  readonly pem: string
  readonly clock: Clock
  readonly log: Logger
}

const NAME = 'kube-root-ca.crt'
const KEY = 'ca.crt'
const RETRY_MS = 10_000

/** Keeps a config map in every namespace with the authority that pods trust when they talk to the API. */
export async function runRootCertificates(deps: RootCertificateDeps, signal: AbortSignal): Promise<void> {
  const wakeup = new Wakeup()
  const stops = ['namespaces', 'configmaps'].map((resource) => deps.store.onChange(resource, () => wakeup.wake()))
  try {
    for (;;) {
      const isDone = await writeAll(deps)
      await wakeup.wait({ clock: deps.clock, ms: isDone ? undefined : RETRY_MS }, signal)
    }
  } finally {
    for (const stop of stops) stop()
  }
}

async function writeAll(deps: RootCertificateDeps): Promise<boolean> {
  let isDone = true
  for (const { metadata } of createObjectReader(deps.store).list('namespaces')) {
    const { name: namespace = '', deletionTimestamp } = metadata
    if (deletionTimestamp !== undefined) continue
    try {
      await writeOne(deps, namespace)
    } catch (error) {
      isDone = false
      deps.log.warn('cannot write the root certificate of a namespace, will try again', { namespace, error })
    }
  }
  return isDone
}

async function writeOne({ store, api, user, pem }: RootCertificateDeps, namespace: string): Promise<void> {
  const present = createObjectReader(store).get({ resource: 'configmaps', namespace, name: NAME })
  const data = { [KEY]: pem }
  const target = `/api/v1/namespaces/${namespace}/configmaps`
  if (present === undefined) {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: NAME }, data }
    return await callApi(api, user, { method: 'POST', target, body })
  }
  if (present.data?.[KEY] === pem) return
  await callApi(api, user, { method: 'PUT', target: `${target}/${NAME}`, body: { ...present, data } })
}
