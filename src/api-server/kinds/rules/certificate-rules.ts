import type {
  CertificateSigningRequest,
  CertificateSigningRequestStatus,
  ClusterTrustBundle,
} from '../../../model/generated/api-groups.ts'
import { FieldPath } from '../../../model/schema/field-path.ts'
import { ProblemList } from '../../../model/schema/validation/problem-list.ts'
import type { ObjectOf } from '../../store/api-object.ts'
import type { ResourceRules, Subresource } from '../resource.ts'
import { sameValue } from '../../../base/document/same-value.ts'
import { immutableSpecFields } from './immutable-fields.ts'

const SPEC = FieldPath.root.child('spec')
const SHORTEST_SECONDS = 600
const DECISIONS = ['Approved', 'Denied']

type Request = ObjectOf<CertificateSigningRequest>

/** Requests for certificates; the requester is the authenticated user, not what the object says. */
export const certificateSigningRequestRules: ResourceRules<Request> = {
  prepareCreate: (request, { user }) => ({
    ...request,
    spec: {
      ...request.spec,
      username: user.name,
      uid: user.uid,
      groups: user.groups,
      extra: user.extra,
    },
    status: {},
  }),
  prepareUpdate: (request, before) => ({ ...request, spec: before.spec }),
  validate: ({ spec }) => {
    const problems = new ProblemList()
    const pem = Buffer.from(spec.request, 'base64').toString('latin1')
    if (!/-----BEGIN (?:NEW )?CERTIFICATE REQUEST-----/.test(pem)) {
      problems.invalid(SPEC.child('request'), pem.slice(0, 40), 'must be a certificate request in PEM form')
    }
    if (!/^[^/]+\.[^/]+\/.+$/.test(spec.signerName)) {
      problems.invalid(
        SPEC.child('signerName'),
        spec.signerName,
        'must be a domain and a name, such as "example.com/signer"',
      )
    }
    if ((spec.usages?.length ?? 0) === 0) problems.required(SPEC.child('usages'))
    if (spec.expirationSeconds !== undefined && spec.expirationSeconds < SHORTEST_SECONDS) {
      problems.invalid(SPEC.child('expirationSeconds'), spec.expirationSeconds, `must be at least ${SHORTEST_SECONDS}`)
    }
    return problems.violations
  },
  validateStatus: (request, before) => {
    const problems = new ProblemList()
    const [now, old] = [statusOf(request), statusOf(before)]
    const decided = (status: CertificateSigningRequestStatus) =>
      status.conditions?.filter(({ type }) => DECISIONS.includes(type)) ?? []
    if (!sameValue(decided(now), decided(old))) {
      problems.forbidden(FieldPath.root.child('status').child('conditions'), 'only the approval subresource may decide')
    }
    if (old.certificate && now.certificate !== old.certificate) {
      problems.forbidden(FieldPath.root.child('status').child('certificate'), 'an issued certificate stays')
    }
    return problems.violations
  },
}

/** Approval or denial by a user who may decide. */
export const approval: Subresource<Request> = {
  name: 'approval',
  verbs: ['get', 'patch', 'update'],
  merge: (request, before, { now }) => ({
    ...before,
    metadata: { ...before.metadata, resourceVersion: request.metadata.resourceVersion },
    status: {
      ...statusOf(before),
      conditions: (statusOf(request).conditions ?? []).map((each) => ({
        lastUpdateTime: now,
        lastTransitionTime: now,
        ...each,
      })),
    },
  }),
  validate: (request, before) => {
    const problems = new ProblemList()
    const path = FieldPath.root.child('status').child('conditions')
    const types = new Set((statusOf(request).conditions ?? []).map(({ type }) => type))
    if (DECISIONS.every((type) => types.has(type)))
      problems.invalid(path, 'Denied', 'a request is either approved or denied')
    for (const { type } of statusOf(before).conditions ?? []) {
      if (!types.has(type)) problems.forbidden(path, `the condition "${type}" stays`)
    }
    return problems.violations
  },
}

/** Authorities to trust; the name of a signer's bundle begins with the signer, so that no bundle passes for that of another. */
export const trustBundleRules: ResourceRules<ObjectOf<ClusterTrustBundle>> = {
  validate: ({ metadata, spec }) => {
    const problems = new ProblemList()
    const { signerName = '', trustBundle } = spec
    if (!/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.test(trustBundle)) {
      problems.invalid(SPEC.child('trustBundle'), trustBundle.slice(0, 40), 'must be certificates in PEM form')
    }
    const { name = '' } = metadata
    const prefix = `${signerName.replaceAll('/', ':')}:`
    if (signerName === '' ? name.includes(':') : !name.startsWith(prefix)) {
      const rule = signerName === '' ? 'must have no ":" without a signer' : `must begin with "${prefix}"`
      problems.invalid(FieldPath.root.child('metadata').child('name'), name, rule)
    }
    return problems.violations
  },
  validateUpdate: immutableSpecFields(['signerName']),
}

function statusOf({ status }: Request): CertificateSigningRequestStatus {
  return status ?? {}
}
