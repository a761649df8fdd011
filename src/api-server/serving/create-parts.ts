import type { Clock } from '../../base/async/clock.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { admitChange } from '../auth/admit-change.ts'
import { admitMirrorPod } from '../auth/admit-mirror-pod.ts'
import type { StaticPods } from '../auth/admit-mirror-pod.ts'
import { admitDeclaredFeatures, admitUsersInHostNetwork } from '../auth/admit-declared-features.ts'
import { admitResize } from '../auth/admit-resize.ts'
import { createApiAuthenticator } from '../auth/create-api-authenticator.ts'
import type { Authenticator } from '../auth/create-api-authenticator.ts'
import { authorize } from '../auth/authorize.ts'
import { createResourceTable } from '../custom-resources/resource-table.ts'
import { createReviewers } from '../auth/create-reviewers.ts'
import { TokenSigner } from '../auth/json-web-token.ts'
import { createObjectReader } from '../kinds/object-reader.ts'
import type { ObjectReader } from '../kinds/object-reader.ts'
import type { KubeletTrust } from '../backends/backend.ts'
import { createBackends } from '../backends/create-backends.ts'
import type { Backends } from '../backends/create-backends.ts'
import { KubeletCredentials } from '../backends/kubelet-credentials.ts'
import { DEFAULT_SERVICE_RANGE, parseServiceRanges } from '../kinds/rules/services/service-range.ts'
import type { ServiceRange } from '../kinds/rules/services/service-range.ts'
import type { ChangeInfo } from '../lifecycle/change-set.ts'
import { ResourceMetrics } from '../resource-metrics/resource-metrics.ts'
import { ensureKubeletClientCertificate } from '../pki/kubelet-client-certificate.ts'
import type { Pki } from '../pki/open-pki.ts'
import { changeInfo } from '../rest/api-context.ts'
import type { ApiDeps } from '../rest/api-context.ts'
import { admitCertificate } from '../rbac/admit-certificate.ts'
import { admitRole } from '../rbac/admit-role.ts'
import { admitByLimitRanges } from '../quota/admit-limit-ranges.ts'
import { admitByQuotas } from '../quota/apply-quotas.ts'
import { keepRoles } from '../rbac/roles.ts'
import type { Roles } from '../rbac/roles.ts'
import { createApi } from '../rest/create-api.ts'
import type { Api } from '../rest/create-api.ts'
import type { RequestUser } from '../kinds/resource.ts'
import type { ApiStore } from '../store/api-store.ts'

export interface PartsDeps {
  readonly nodeName: string
  readonly hasScheduler?: boolean
  readonly serviceRange?: string
  readonly kubeletTrust?: () => KubeletTrust
  readonly kubeletAddress?: string
  readonly staticPods?: StaticPods
  readonly switchedOff?: ReadonlyMap<string, string>
  readonly version: string
  readonly clock: Clock
  readonly log: Logger
  readonly newUid: () => string
  readonly random: () => number
}

/** What the API server consists of, before it listens. */
export interface ApiParts {
  readonly pki: Pki
  readonly store: ApiStore
  readonly objects: ObjectReader
  readonly roles: Roles
  readonly signer: TokenSigner
  readonly authenticator: Authenticator
  readonly kubelets: KubeletCredentials
  readonly backends: Backends
  readonly serviceRanges: readonly ServiceRange[]
  readonly api: Api
  /** What a change of the server's own depends on. */
  readonly infoFor: (user: RequestUser) => ChangeInfo
}

/** Builds the API over a store: authentication, authorization, the verbs, and the kubelets behind it. */
export async function createParts(deps: PartsDeps, pki: Pki, store: ApiStore): Promise<ApiParts> {
  const { clock, log } = deps
  const objects = createObjectReader(store)
  const roles = keepRoles(store, objects)
  const signer = new TokenSigner(pki.tokenKey)
  const authenticator = createApiAuthenticator({ authority: pki.authority.certificate, signer, objects, clock, log })
  const kubelets = new KubeletCredentials({
    authorityPem: pki.authority.pem,
    certificate: await ensureKubeletClientCertificate(pki, deps),
    trust: deps.kubeletTrust,
  })
  const { kubeletAddress, staticPods } = deps
  const backends = createBackends({ objects, clock, kubeletTls: () => kubelets.tls(), kubeletAddress })
  const serviceRanges = parseServiceRanges(deps.serviceRange ?? DEFAULT_SERVICE_RANGE)
  const apiDeps: ApiDeps = {
    ...deps,
    nodeName: deps.hasScheduler === true ? undefined : deps.nodeName,
    store,
    backends,
    metrics: new ResourceMetrics({ backends, clock }),
    serviceRanges,
    reviewers: createReviewers(authenticator, { objects, roles }),
    admit: (user, change, view) => {
      const objects = createObjectReader(view)
      admitChange(user, change, { objects })
      admitRole(user, change, objects)
      admitCertificate(user, change, objects)
      admitByLimitRanges(change, objects)
      admitByQuotas(change, view)
      admitDeclaredFeatures(change, objects)
      admitUsersInHostNetwork(change, objects)
      admitResize(change, objects)
    },
    resources: createResourceTable(store),
    authorize: (attributes) => authorize(attributes, objects, roles),
    admitNew: (user, resource, object, signal) => admitMirrorPod(user, resource, object, { staticPods, clock }, signal),
  }
  const infoFor = (user: RequestUser) => changeInfo(apiDeps, user)
  const api = createApi(apiDeps)
  return { pki, store, objects, roles, signer, authenticator, kubelets, backends, serviceRanges, api, infoFor }
}
