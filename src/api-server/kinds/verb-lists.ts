/** The verbs that change nothing. */
export const READ_VERBS = ['get', 'list', 'watch']

export const WRITE_VERBS = ['create', 'delete', 'deletecollection', 'patch', 'update']

/** What may be done with the objects of most kinds. */
export const ALL_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']
