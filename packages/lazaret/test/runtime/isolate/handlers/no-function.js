export default { handler: 'not a function' };
