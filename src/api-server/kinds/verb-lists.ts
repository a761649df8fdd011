/** The verbs that change nothing. */
export const READ_VERBS = ['get', 'list', 'watch']

export const WRITE_VERBS = ['create', 'delete', 'deletecollection', 'patch', 'update']

/** What may be done with the objects of most kinds. */
export const ALL_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

/** The same, in the order in which discovery has them for custom resources. */
export const CUSTOM_RESOURCE_VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']

/** What is done with all objects of a kind, or with those that a selector finds. */
export const COLLECTION_VERBS = ['list', 'watch', 'deletecollection']
