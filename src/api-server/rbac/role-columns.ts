import type { ClusterRoleBinding, RoleBinding, Subject } from '../../model/generated/api-groups.ts'
import type { TableColumns } from '../kinds/table-columns.ts'
import { ageOf, columnsOf } from '../kinds/table-columns.ts'
import type { ObjectOf } from '../store/api-object.ts'

/** What has no columns of its own shows when it was made; kubectl prints how long ago that is. */
export const nameAndCreated: TableColumns = {
  columns: [
    { name: 'Name', type: 'string', format: 'name', description: '', priority: 0 },
    { name: 'Created At', type: 'date', format: '', description: '', priority: 0 },
  ],
  cells: ({ metadata }) => [metadata.name ?? '', metadata.creationTimestamp ?? ''],
}

export const bindingColumns: TableColumns<ObjectOf<RoleBinding> | ObjectOf<ClusterRoleBinding>> = {
  columns: columnsOf('Name', 'Role', 'Age', 'Users:wide', 'Groups:wide', 'ServiceAccounts:wide'),
  cells: (binding, now) => {
    const { metadata, roleRef, subjects = [] } = binding
    const namesOf = (kind: string, toText: (subject: Subject) => string) =>
      subjects
        .filter((each) => each.kind === kind)
        .map(toText)
        .join(', ')
    return [
      metadata.name ?? '',
      `${roleRef.kind}/${roleRef.name}`,
      ageOf(binding, now),
      namesOf('User', ({ name }) => name),
      namesOf('Group', ({ name }) => name),
      namesOf('ServiceAccount', ({ name, namespace }) => `${namespace ?? ''}/${name}`),
    ]
  },
}
