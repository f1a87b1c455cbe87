/** Any validator that speaks Standard Schema; this one is written by hand. */
export const schema = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) =>
      typeof value?.sku === 'string'
        ? { value: { sku: value.sku.trim() } }
        : { issues: [{ message: 'not text', path: ['sku'] }] },
  },
};

export const handler = (message, ctx) => ctx.skip(`sku ${message.json().sku}`);
