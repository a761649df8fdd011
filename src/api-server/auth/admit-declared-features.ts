import { featuresToUpdate } from '../../model/resources/required-features.ts'
import { forbidden } from '../api-error.ts'
import { isChangeOf } from '../lifecycle/change-set.ts'
import type { Change } from '../lifecycle/change-set.ts'
import { sameValue } from '../kinds/same-value.ts'
import type { ObjectReader } from '../kinds/object-reader.ts'

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
