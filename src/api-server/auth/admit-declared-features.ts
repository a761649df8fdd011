import type { PodSpec, PodTemplateSpec } from '../../model/generated/core-v1.ts'
import { FieldPath } from '../../model/schema/field-path.ts'
import { featuresToUpdate } from '../../model/resources/required-features.ts'
import { forbidden, invalid } from '../api-error.ts'
import { isChangeOf } from '../lifecycle/change-set.ts'
import type { Change } from '../lifecycle/change-set.ts'
import { sameValue } from '../../base/document/same-value.ts'
import type { ObjectReader } from '../kinds/object-reader.ts'

const SPEC = FieldPath.root.child('spec')
const OWN_USERS_IN_HOST_NETWORK = 'UserNamespacesHostNetworkSupport'

/** What a kind with pods has in its spec, as far as it is read here. */
interface PodHolder {
  readonly template?: PodTemplateSpec
  readonly jobTemplate?: { readonly spec?: { readonly template?: PodTemplateSpec } }
}

interface LocatedSpec {
  readonly path: FieldPath
  readonly spec: PodSpec | undefined
}

const inTemplate = ({ template }: PodHolder, path = SPEC): LocatedSpec => ({
  path: path.child('template').child('spec'),
  spec: template?.spec,
})
/** Where an object says what its pods are, by its resource. */
const POD_SPECS: Readonly<Record<string, (spec: PodHolder) => LocatedSpec>> = {
  pods: (spec) => ({ path: SPEC, spec: spec as PodSpec }),
  'cronjobs.batch': ({ jobTemplate }) => inTemplate(jobTemplate?.spec ?? {}, SPEC.child('jobTemplate').child('spec')),
  'daemonsets.apps': inTemplate,
  'deployments.apps': inTemplate,
  'jobs.batch': inTemplate,
  'replicasets.apps': inTemplate,
  'statefulsets.apps': inTemplate,
}

/**
 * Rejects pods, and templates of them, with users of their own in the network of the node where no node can run them: what a cluster knows by the gate of
 * its API server, this one knows by what nodes declare. An object that has it already keeps it. Throws an ApiError.
 */
export function admitUsersInHostNetwork({ key, before, after }: Change, objects: ObjectReader): void {
  const locate = POD_SPECS[key.resource]
  if (locate === undefined || after === undefined) return
  const { path, spec } = locate(after.spec ?? {})
  if (!hasUsersInHostNetwork(spec)) return
  if (before !== undefined && hasUsersInHostNetwork(locate(before.spec ?? {}).spec)) return
  const nodes = objects.list('nodes')
  if (nodes.some(({ status }) => status?.declaredFeatures?.includes(OWN_USERS_IN_HOST_NETWORK))) return
  const violation = { path: path.child('hostNetwork'), rule: 'Forbidden: not together with hostUsers: false' }
  const [, group = ''] = key.resource.split('.')
  throw invalid({ group, kind: after.kind, name: after.metadata.name ?? '' }, [violation])
}

function hasUsersInHostNetwork(spec: PodSpec | undefined): boolean {
  return spec?.hostNetwork === true && spec.hostUsers === false
}

/**
 * Rejects a change of a bound pod that its node has not declared to be able to carry out. Throws an ApiError.
 * Parity: plugin/pkg/admission/nodedeclaredfeatures.
 */
export function admitDeclaredFeatures(change: Change, objects: ObjectReader): void {
  if (!isChangeOf(change, 'pods')) return
  const [old, spec] = [change.before?.spec, change.after?.spec]
  if (old === undefined || spec?.nodeName === undefined || sameValue(old, spec)) return
  const features = featuresToUpdate({ spec: old }, { spec })
  if (features.length === 0) return
  const target = { group: '', resource: 'pods', name: change.key.name }
  const node = objects.get({ resource: 'nodes', namespace: '', name: spec.nodeName })
  if (node === undefined) throw forbidden(target, `node "${spec.nodeName}" not found`)
  const declared = node.status?.declaredFeatures ?? []
  const missing = features.filter((name) => !declared.includes(name))
  if (missing.length > 0)
    throw forbidden(
      target,
      `pod update requires features ${missing.join(', ')} which are not available on node "${spec.nodeName}"`,
    )
}
